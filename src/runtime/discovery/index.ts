export { discover } from './discover.ts';
export {
  aggregate,
  type DiscoveredHandler,
  type DiscoverResult,
  type DiscoveryProblem,
  type KnownHooks,
  phaseOf,
  readDiscovery,
} from './discovery.ts';
