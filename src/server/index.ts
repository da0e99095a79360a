export type { BodyRefusal } from './body.ts';
export type { CertificatePair } from './certificate.ts';
export { type CertificateEvent, type CertificateSource, fixedCertificate } from './certificate-source.ts';
export { ClientCaError } from './client-ca.ts';
export { plainExpress } from './express.ts';
export { fileCertificates } from './file-certificates.ts';
export { type HealthServer, type HealthServerOptions, startHealthServer } from './health-server.ts';
export { defaultLimits, type Limits } from './limits.ts';
export { type Address, ListenError } from './listen.ts';
export type { Metrics } from './metrics.ts';
export { createRespond, receiveBody } from './receive.ts';
export { refusal, refuseUnread } from './response.ts';
export { secretCertificates } from './secret-certificates.ts';
export { selfSignedPair } from './self-signed.ts';
export {
  type Application,
  type Foundation,
  type RunningServer,
  type ServerOptions,
  type StopOptions,
  startServer,
} from './server.ts';
export { Http1Response, type TrackedRequest, type TrackedResponse } from './tracked.ts';
