export { clusterLife, type Story } from './life.ts';
