# bead as an earlier commit had it, over the same packages: what a person had before an update.
FROM bead:local
USER 0
COPY shared/ services/ /opt/previous/
ENV PYTHONPATH=/opt/previous
USER 10001
