// Records how kubectl reads YAML: node test/generate/kubectl-yaml.ts > test/fixtures/kubectl-yaml.json
import { recordKubectlYaml } from '../manifests/kubectl-yaml.ts';

process.stdout.write(`${JSON.stringify(await recordKubectlYaml(), null, 1)}\n`);
