import { everyCommandRuns } from '../every-command.ts';

// Each leaves the sandbox to the next one as it needs it: the last two change the webhook configurations.
everyCommandRuns(['docs/command-line.md', 'docs/certificates.md', 'docs/install.md', 'docs/operations.md']);
