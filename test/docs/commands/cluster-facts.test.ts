import { everyCommandRuns } from '../every-command.ts';

everyCommandRuns('docs/cluster-facts.md');
