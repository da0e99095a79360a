import './node-version.ts';

export {
  applyPatches,
  assertDeterministic,
  assertIdempotent,
  callHandler,
  type DeterministicOptions,
  fakeClock,
  type IdempotentOptions,
  requestFor,
  type TestOutcome,
} from '../extension/index.ts';
