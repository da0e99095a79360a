import type { AdmissionResponse } from '../kubernetes/index.ts';

/** How a review ended, and by which rules: what the response says, and what logs and metrics need. */
export interface AdmissionOutcome {
  response: AdmissionResponse;
  verdict: 'allowed' | 'warned' | 'denied' | 'malformed';
  /** Ids of the rules that denied, each once. */
  deniedBy: string[];
  /** Ids of the rules that warned, each once. */
  warnedBy: string[];
}
