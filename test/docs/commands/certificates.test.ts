import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/certificates.md');
