export { type Admission, type AdmissionPolicy, createAdmission } from './admission.ts';
export { defaultsOf, withDefaults } from './defaults.ts';
export type { AdmissionOutcome } from './outcome.ts';
export { warningText } from './response.ts';
