import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { version } from '../package/tree.ts';
import { blocksOf } from './blocks.ts';
import { isRun } from './every-command.ts';
import { pages, readPage } from './pages.ts';

const blocks = new Map(pages.map((page) => [page, blocksOf(readPage(page))]));

test('the commands of each page are run by a test file', () => {
  const folder = new URL('commands/', import.meta.url);
  const files = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const run = files
    .flatMap((text) => [...text.matchAll(/^everyCommandRuns\((?:\[[^\]]*\]|'[^']*')/gm)])
    .flatMap(([call]) => [...call.matchAll(/'([^']*)'/g)].map(([, page]) => page));
  expect(run.toSorted()).toEqual(pages.filter((page) => blocks.get(page)?.some(isRun)).toSorted());
});

test('the blocks that are not run give a reason', () => {
  const skipped = pages.flatMap((page) =>
    (blocks.get(page) ?? [])
      .filter(({ language, skip }) => language === 'sh' && skip !== undefined)
      .map(({ text, skip }) => `${page}: ${text.split('\n')[0]}: ${skip}`),
  );
  expect(skipped).toEqual([
    'README.md: npm ci && npm start: the block below starts it with --write',
    'README.md: npm ci && npm test: runs the tests',
    'README.md: npx extensionconfig-webhook plan --from ../before/clusters -f clusters: needs a repository with two states',
    `README.md: docker build -t registry.example.com/extensionconfig-webhook:${version} .: needs a container engine and a registry`,
    'README.md: npm run pack -- packages: test/package makes the packages',
    'README.md: cd ../my-extension && npm install && npm run dev: docs/extension-tutorial.md runs it',
    'docs/certificates.md: extensionconfig-webhook certs rotate --force ca --wait: takes a day; docs/sandbox.md has one of five seconds',
    'docs/conformance.md: extensionconfig-webhook conformance my-extension: needs a cluster with an extension',
    'docs/extension-tutorial.md: npm run pack -- packages: test/package makes the package',
    'docs/extension-tutorial.md: npm install --no-audit --no-fund: test/package installs it',
    'docs/extensions.md: extensionconfig-webhook template-types kubeadmcontrolplanetemplates.yaml devmachinetemplates.yaml > src/template-types.ts: needs CustomResourceDefinitions of providers',
    `docs/install.md: docker build -t registry.example.com/extensionconfig-webhook:${version} .: needs a container engine and a registry`,
    'docs/install.md: kubectl -n extensionconfig-webhook-system rollout status deployment/extensionconfig-webhook: no pod runs in the sandbox',
    'docs/operations.md: kubectl -n extensionconfig-webhook-system logs -l app.kubernetes.io/component=certificates --tail=-1 --prefix: no pod runs in the sandbox',
    'docs/operations.md: kubectl -n extensionconfig-webhook-system port-forward deployment/extensionconfig-webhook 8080 &: no pod runs in the sandbox',
    'docs/plan.md: git worktree add ../before origin/main: needs a repository with two states',
    'docs/plan.md: extensionconfig-webhook plan --to-cluster-api-version v1.14: needs a cluster with Cluster API',
    'docs/plan.md: extensionconfig-webhook plan --crds provider-v0.24 -f provider-v0.25: needs two releases of a provider',
    'docs/plan.md: extensionconfig-webhook plan --extension my-extension=https://localhost:9443: needs a cluster with an extension',
    'docs/plan.md: extensionconfig-webhook plan --recorded recorded --extension my-extension=https://localhost:9443 --fail-on replace: needs a record of a class with an extension',
    'docs/recipes.md: kustomize build overlays/production | npx extensionconfig-webhook lint -: needs kustomize and helm',
    'docs/rehearse.md: extensionconfig-webhook rehearse my-extension --set-version v1.33.0 --delete: needs an extension in a cluster',
    'docs/rehearse.md: extensionconfig-webhook rehearse my-extension --cluster-files class.yaml --cluster-files cluster.yaml --set-version v1.33.0: needs a ClusterClass',
    'docs/runtime-hooks.md: extensionconfig-webhook discover my-extension: needs an extension in a cluster',
    'CONTRIBUTING.md: npm ci: npm ci brought what runs this test, and this is npm test',
    'SECURITY.md: sha256sum --check --ignore-missing SHA256SUMS: needs a release',
  ]);
});
