import './node-version.ts';

export {
  type ApplyOptions,
  applyPatches,
  assertDeterministic,
  assertIdempotent,
  assertIsolated,
  callHandler,
  type DeterministicOptions,
  fakeClock,
  type IdempotentOptions,
  requestFor,
  requestFromFile,
  type TestOutcome,
} from '../extension/index.ts';
