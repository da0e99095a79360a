import './node-version.ts';

export {
  assertDeterministic,
  assertIdempotent,
  callHandler,
  fakeClock,
  type IdempotentOptions,
  requestFor,
  type TestOutcome,
} from '../extension/index.ts';
