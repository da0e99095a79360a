// Records how kubectl reads YAML: node tools/generate/kubectl-yaml.ts > test/support/fixtures/kubectl-yaml.json
import { recordKubectlYaml } from '../../test/kubernetes/manifests/kubectl-yaml.ts';

process.stdout.write(`${JSON.stringify(await recordKubectlYaml(), null, 1)}\n`);
