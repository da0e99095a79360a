export { createApplication, noSuchPath } from './application/application.ts';
export { type BodyHandler, type BodyResponse, createBody, InFlight, jsonIn } from './application/body.ts';
export { lostLogLinesHelp } from './application/metrics.ts';
export { type Answer, createRefuse, Refusal, type Refuse } from './application/refusal.ts';
export {
  type CertificateEvent,
  type CertificatePair,
  type CertificateSource,
  fixedCertificate,
  selfSignedPair,
} from './certificates/certificate.ts';
export { ClientCaError } from './certificates/client-ca.ts';
export { fileCertificates } from './certificates/file-certificates.ts';
export { secretCertificates } from './certificates/secret-certificates.ts';
export { type Application, clientOf } from './connections/connections.ts';
export { type HealthServer, startHealthServer } from './health-server.ts';
export { defaultLimits, type Limits, limitsWith } from './limits.ts';
export { ListenError } from './listen.ts';
export { type RunningServer, type ServerContext, type ServerOptions, startServer } from './server.ts';
export { stopInTime } from './stop-in-time.ts';
