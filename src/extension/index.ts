export { type UpgradePlan, upgradePlanProblems } from '../messages/index.ts';
export type { CallOutcome, HandledCall } from './calls/index.ts';
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
} from './handlers/index.ts';
export {
  type Handler,
  type HandlerContext,
  HandlerFailure,
  type HandlerOptions,
  HandlersError,
  handler,
} from './handlers/index.ts';
export { createJobs, type Job, type Jobs, type JobsOptions } from './jobs.ts';
export { type ChangeableFields, getField, machinePatches, machineSetPatches, setField } from './objects/index.ts';
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
