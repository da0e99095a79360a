import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { oldestNode } from '../../src/exports/node-version.ts';
import { formatRelease, newestKnownRelease, oldestKnownRelease } from '../../src/runtimehooks/index.ts';
import { buildOverlay, overlays } from '../kubernetes/manifests/kustomization.ts';
import { node22 } from '../package/from-registry.ts';
import { pages, readPage } from './pages.ts';

const rows = new Map(
  [...readPage('docs/install.md').matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
    ([, what = '', versions = '', tested = '']) => [what, { versions, tested }],
  ),
);

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const { devDependencies } = JSON.parse(read('package.json')) as {
  devDependencies: { node: string };
};

/** The Node.js of this checkout. */
const pinned = devDependencies.node;
const [major = ''] = pinned.split('.');

test('Node.js: what packages, projects, checkout and image ask for, and what tests run', () => {
  expect(rows.get('Node.js, for the npm packages')).toEqual({
    versions: `${oldestNode} and newer`,
    tested: `${node22} and ${pinned}`,
  });
  const template = JSON.parse(read('templates/extension/package.json')) as { engines: { node: string } };
  expect(rows.get('Node.js, for projects of `new-extension`')).toEqual({
    versions: `${template.engines.node.replace(/^>=(.*)\.0$/, '$1')} and newer`,
    tested: pinned,
  });
  expect(rows.get('Node.js, in a checkout and the image')).toEqual({ versions: major, tested: pinned });
  const dockerfile = read('Dockerfile');
  expect(dockerfile).toContain(`/node:${pinned}-`);
  expect(dockerfile).toContain(`nodejs${major}-`);
});

test('Cluster API: the hooks of the releases in the catalog', () => {
  expect(rows.get('hooks of Cluster API')?.versions).toBe(
    `${formatRelease(oldestKnownRelease)} to ${formatRelease(newestKnownRelease)}`,
  );
});

/** The Kubernetes release that has a field or kind of ours on by default, without a feature gate. */
const sinceKubernetes = {
  ValidatingAdmissionPolicy: 30,
  matchConditions: 28,
  unhealthyPodEvictionPolicy: 27,
  seccompProfile: 19,
};

/** The APIs that our objects use, all of them there since Kubernetes 1.25; others come with their own operators. */
const apis = [
  ...['v1', 'apps/v1', 'batch/v1', 'policy/v1', 'networking.k8s.io/v1', 'rbac.authorization.k8s.io/v1'],
  ...['scheduling.k8s.io/v1', 'admissionregistration.k8s.io/v1', 'apiextensions.k8s.io/v1'],
  ...['monitoring.coreos.com/v1', 'cert-manager.io/v1'],
];

test('Kubernetes: the oldest that has everything in the manifests, and every page says the same', () => {
  const objects = overlays.flatMap((overlay) => buildOverlay(overlay));
  expect(new Set(objects.map(({ apiVersion }) => apiVersion))).toEqual(new Set(apis));
  const text = JSON.stringify(objects);
  expect(Object.keys(sinceKubernetes).filter((field) => !text.includes(`"${field}"`))).toEqual([]);
  const oldest = `1.${Math.max(...Object.values(sinceKubernetes))}`;
  expect(rows.get('Kubernetes')?.versions).toContain(`${oldest} and newer`);
  const named = pages.flatMap((page) =>
    [...readPage(page).matchAll(/\bneeds? Kubernetes (1\.\d+)/g)].map(([, version]) => version),
  );
  expect(new Set(named)).toEqual(new Set([oldest]));
});
