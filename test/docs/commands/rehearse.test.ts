import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/rehearse.md');
