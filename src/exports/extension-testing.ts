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
  requestFromFile,
  type TestOutcome,
} from '../extension/index.ts';
