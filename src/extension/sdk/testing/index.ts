export { type ApplyOptions, applyPatches } from './apply-patches.ts';
export {
  assertDeterministic,
  assertIdempotent,
  assertIsolated,
  callHandler,
  type DeterministicOptions,
  type IdempotentOptions,
  requestFor,
  requestFromFile,
  type TestOutcome,
} from './testing.ts';
