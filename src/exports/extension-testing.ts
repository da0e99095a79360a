import './node-version.ts';

export {
  type ApplyOptions,
  applyPatches,
  assertDeterministic,
  assertIdempotent,
  assertIsolated,
  callHandler,
  type DeterministicOptions,
  type IdempotentOptions,
  requestFor,
  requestFromFile,
  type TestOutcome,
} from '../extension/index.ts';
