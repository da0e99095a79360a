import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/extension-tutorial.md');
