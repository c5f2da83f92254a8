# Both README commands work in this image, which is built for the platform of the machine. For both platforms at once:
#   docker buildx build --platform linux/amd64,linux/arm64 -t recassay .
# Of torch, ARM gets the build with CUDA (several GB): without networks, leave the tests and run the demo alone.
#   docker build -t recassay . && docker run --rm recassay demo
#   docker run --rm recassay test -m "not long"
FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends git chromium && rm -rf /var/lib/apt/lists/*
WORKDIR /recassay
COPY . .
# Install once, with what the tests need, so that `docker run` starts at once.
RUN python3 dev.py lint
ENTRYPOINT ["python3", "dev.py"]
CMD ["demo"]
