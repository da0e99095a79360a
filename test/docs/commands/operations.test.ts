import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/operations.md');
