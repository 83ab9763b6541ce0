# bead as the next one would be that writes its files in another form and speaks otherwise: what an update brings.
FROM bead:local
USER 0
RUN cd /opt/bead/lib/python3*/site-packages \
 && sed -i -e 's/^FORMAT = 1$/FORMAT = 2/' \
    -e 's/^STEPS: Mapping\[int, Step\] = {}$/STEPS: Mapping[int, Step] = {1: lambda home, disk: None}/' \
    bead_store/formats.py \
 && sed -i 's/^WIRE = 1$/WIRE = 2/' bead/wire/health.py \
 && grep -q '^FORMAT = 2' bead_store/formats.py && grep -q '{1: lambda' bead_store/formats.py \
 && grep -q '^WIRE = 2' bead/wire/health.py
USER 10001
