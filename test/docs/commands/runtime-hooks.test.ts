import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/runtime-hooks.md');
