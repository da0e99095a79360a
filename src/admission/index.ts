export { type Admission, type AdmissionPolicy, type ClusterKnowledge, createAdmission } from './admission.ts';
export type { AdmissionOutcome, Knowledge, PendingProbe } from './outcome.ts';
export { warningText } from './response.ts';
