# sitegen for building and checking a site, on a machine without a GPU.
#
#   docker build --file .github/docker/cpu.Dockerfile --tag sitegen .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/site" sitegen build
FROM python:3.12-slim
COPY pyproject.toml constraints.txt README.md LICENSE /source/
COPY sitegen /source/sitegen
COPY templates /source/templates
COPY .github/workflows /source/.github/workflows
RUN pip install --no-cache-dir --constraint /source/constraints.txt '/source[diagrams]'
ENV XDG_CACHE_HOME=/tmp/cache XDG_STATE_HOME=/tmp/state
WORKDIR /site
ENTRYPOINT ["sitegen"]
CMD ["build"]
