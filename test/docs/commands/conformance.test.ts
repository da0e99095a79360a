import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/conformance.md');
