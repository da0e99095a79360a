import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/command-line.md');
