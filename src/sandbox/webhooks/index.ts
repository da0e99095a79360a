export {
  type AdmissionAttempt,
  type AdmissionContext,
  type AdmissionEvent,
  mutate,
  optionsOf,
  validate,
} from './admission.ts';
export { VersionConverter } from './conversion.ts';
export { type Endpoint, type ResolveService, type ServiceReference, WebhookCaller } from './webhook-call.ts';
