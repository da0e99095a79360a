# The image of extensionconfig-webhook: serves the webhooks, and runs the certificate Jobs.
#
#   docker build -t registry.example.com/extensionconfig-webhook:0.1.0 .
#
# Reproducible: npm packages come by version and hash from package-lock.json, images by digest. To bring one up to date,
# write what `docker buildx imagetools inspect IMAGE` prints for its tag (--build-arg BUILD_IMAGE=… builds on your own).
ARG BUILD_IMAGE=docker.io/library/node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
# Distroless tags name no Node.js version, only the major one; on Debian 12 there are no updates any more.
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot@sha256:9eeb7f5887d0e239e78264b06f7f11d2e14be534050481803a9e4728fcdd278e

# For any platform: the bundle is JavaScript, and only the last stages have a Node.js.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json LICENSE ./
# No dependency's install script runs: the only one brings a Node.js for development.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY tools/build tools/build
COPY bin bin
COPY manifests manifests
COPY templates templates
COPY README.md README.md
ARG REVISION=
RUN node --run build -- --image

FROM ${RUNTIME_IMAGE} AS base
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="extensionconfig-webhook" \
  org.opencontainers.image.description="Admission service for Cluster API's ExtensionConfig objects" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.source="${SOURCE}"
WORKDIR /app
ENV NODE_ENV=production
# By number, so that Kubernetes can see that it is not root. The files belong to root: the program cannot change itself.
USER 65532:65532
EXPOSE 9443 8080
# Kubernetes has probes of its own; this is for other engines. Without a shell: Node.js asks.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["/nodejs/bin/node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Under load Node.js lets the young generation grow, and keeps it. Held at 8 MiB, the server needs less memory than a bare
# node:https handler, for no more CPU time (npm run bench).
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=8", "/app/main.js"]
CMD ["serve"]

# With the sandbox: docker build --target tools …
FROM build AS build-tools
RUN node --run build

FROM base AS tools
COPY --from=build-tools /app/dist/extensionconfig-webhook ./

# A bundle of 6 MB, and no packages.
FROM base
COPY --from=build /app/dist/image ./
