export { type UpgradePlan, upgradePlanProblems } from '../messages/index.ts';
export type {
  Answer,
  AnswerFields,
  Answers,
  BlockingAnswers,
  FinalAnswers,
  Hook,
  HookName,
  RequestFor,
  ResponseFor,
} from './answer.ts';
export type { CallOutcome, HandledCall } from './call.ts';
export { HandlersError } from './check.ts';
export { type Handler, type HandlerContext, HandlerFailure, type HandlerOptions, handler } from './handler.ts';
export { type ChangeableFields, machinePatches, machineSetPatches } from './in-place.ts';
export { createJobs, type Job, type Jobs, type JobsOptions } from './jobs.ts';
export { getField, setField } from './json-path.ts';
export {
  createExtensionServer,
  createHostedExtension,
  type ExtensionCertificates,
  type ExtensionServer,
  type ExtensionServerOptions,
  type HostedExtensionOptions,
  type RunningExtension,
} from './server.ts';
export {
  assertDeterministic,
  assertIdempotent,
  callHandler,
  fakeClock,
  type IdempotentOptions,
  requestFor,
  type TestOutcome,
} from './testing/index.ts';
export * from './topology/index.ts';
export { checkedUpgradePlan } from './upgrade-plan.ts';
