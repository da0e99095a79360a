export { AllowListError, parseAllowList } from './allow-list.ts';
export { addProbeMetrics } from './metrics.ts';
export { createProber, type ProbeResult, type ProberOptions } from './probe.ts';
