# bead as the next one would be that writes its files in another form: what an update brings.
FROM bead:local
USER 0
RUN cd /opt/bead/lib/python3*/site-packages/bead_store \
 && sed -i -e 's/^FORMAT = 1$/FORMAT = 2/' \
    -e 's/^STEPS: Mapping\[int, Step\] = {}$/STEPS: Mapping[int, Step] = {1: lambda home, disk: None}/' formats.py \
 && grep -q '^FORMAT = 2' formats.py && grep -q '{1: lambda' formats.py
USER 10001
