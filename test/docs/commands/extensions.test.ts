import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/extensions.md');
