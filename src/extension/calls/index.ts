export { type CallOutcome, call, envelopeOf, type HandledCall } from './call.ts';
export { type CallTimeout, createCallTimeout } from './call-timeout.ts';
export { callInTime, type TimedOutcome } from './timed-call.ts';
