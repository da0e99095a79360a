import type { AdmissionResponse } from '../kubernetes/index.ts';

/** The result of a review: the response, and what logs and metrics need. */
export interface AdmissionOutcome {
  response: AdmissionResponse;
  verdict: 'allowed' | 'warned' | 'denied' | 'malformed';
  /** Ids of the rules that denied the request, each once. */
  deniedBy: string[];
  /** Ids of the rules that warned, each once. */
  warnedBy: string[];
}
