# sitegen for measuring on a GPU.  The host needs NVIDIA's driver and its container toolkit.
#
#   docker build --file .github/docker/cuda.Dockerfile --tag sitegen-cuda .
#   docker run --rm --gpus all --user "$(id -u):$(id -g)" --volume "$PWD:/site" sitegen-cuda run
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
RUN apt-get update && apt-get install --yes --no-install-recommends gcc git python3-dev python3-venv \
  && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/sitegen
ENV PATH=/opt/sitegen/bin:$PATH XDG_CACHE_HOME=/tmp/cache XDG_STATE_HOME=/tmp/state
COPY pyproject.toml constraints.txt README.md LICENSE /source/
COPY sitegen /source/sitegen
COPY templates /source/templates
COPY .github/workflows /source/.github/workflows
RUN pip install --no-cache-dir --constraint /source/constraints.txt '/source[cluster,cuda,gpu]'
WORKDIR /site
ENTRYPOINT ["sitegen"]
CMD ["status"]
