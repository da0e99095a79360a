import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/sandbox.md');
