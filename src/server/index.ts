export type { CertificatePair } from './certificates/index.ts';
export {
  type CertificateEvent,
  type CertificateSource,
  ClientCaError,
  fileCertificates,
  fixedCertificate,
  secretCertificates,
  selfSignedPair,
} from './certificates/index.ts';
export {
  defaultLimits,
  Http1Response,
  type Limits,
  ListenError,
  limitsWith,
  type TrackedResponse,
} from './connections/index.ts';
export { type HealthServer, startHealthServer } from './health/index.ts';
export type { ServerOptions } from './options.ts';
export type { Application, BodyRefusal, Foundation } from './requests/index.ts';
export { createRespond, receiveBody, refuseUnread } from './requests/index.ts';
export { type RunningServer, startServer } from './server.ts';
