export * from './effects.ts';
export { clusterLife, type Story } from './life.ts';
export type { ClusterApiLimits } from './limits.ts';
export { type Edit, initialState, type State } from './state.ts';
