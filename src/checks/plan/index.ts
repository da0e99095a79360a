export { createPlanCaller, offersUpdates, type StateExtensions } from './calls.ts';
export { withoutSecretCauses, withoutSecretValues } from './hidden.ts';
export { type LiveState, readLive, templateReferences, withUnread } from './live.ts';
export { planPage } from './page.ts';
export {
  planRecorded,
  type Recording,
  readAnswers,
  readObjects,
  recordedCalls,
  recordedObjects,
  recordingCalls,
} from './recording.ts';
export { planText } from './text.ts';
export { withWaits } from './waits.ts';
export { causeText, groupText, problemText, verdictText } from './words.ts';
