import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('README.md');
