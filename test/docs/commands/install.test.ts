import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/install.md');
