export { guardWrites } from './guarded-writes.ts';
export { type Election, type LeaderElectionOptions, startElection } from './leader-election.ts';
export { type LeaseName, storedLease } from './lease.ts';
