import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { group, kind } from '../../../src/extensionconfig/index.ts';
import { matchesConditions } from '../../../src/kubernetes/cel/index.ts';
import type { Json } from '../../../src/kubernetes/index.ts';
import {
  buildKustomization,
  buildOverlay,
  find,
  idOf,
  type Manifest,
  manifestsFolder,
  overlays,
} from './kustomization.ts';

const { version, devDependencies } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { version: string; devDependencies: Record<string, string> };

const systemNamespace = 'extensionconfig-webhook-system';
const everything = new Map<string, Manifest>();
for (const overlay of overlays) {
  for (const object of buildOverlay(overlay)) {
    everything.set(`${overlay}: ${idOf(object)}`, object);
  }
}
const objects = buildOverlay('default');
const serving = find(objects, 'Deployment');
const bootstrap = objects.find((object) => object.kind === 'Job')!;
const rotate = find(objects, 'CronJob', 'extensionconfig-webhook-rotate');
const withController = buildOverlay('controller-discover');
const controller = find(withController, 'Deployment', 'extensionconfig-webhook-controller');
const podTemplates = {
  serving: serving.spec.template,
  controller: controller.spec.template,
  bootstrap: bootstrap.spec.template,
  rotate: rotate.spec.jobTemplate.spec.template,
};

/** The value of a flag in a container's arguments. */
function flag(template: Manifest, name: string): string | undefined {
  const args = template.spec.containers[0].args as string[];
  return args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
}

/** Mebibytes of a quantity that ends in Mi or Gi. */
function mebibytes(quantity: string): number {
  expect(quantity).toMatch(/^\d+[MG]i$/);
  return Number.parseInt(quantity, 10) * (quantity.endsWith('Gi') ? 1024 : 1);
}

/** The user that the image names, in numbers. */
const user = { runAsUser: 65532, runAsGroup: 65532 };

describe.each(Object.entries(podTemplates))('pods: %s', (name, template) => {
  const [container] = template.spec.containers;

  test('meet the restricted Pod Security Standard, with a read-only file system', () => {
    expect(template.spec.containers).toHaveLength(1);
    expect(template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      ...(name === 'serving' || name === 'controller' ? user : {}),
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers']) {
      expect(template.spec).not.toHaveProperty(field);
    }
  });

  test('have memory limits, and requests that do not exceed them', () => {
    const { requests, limits } = container.resources;
    expect(mebibytes(requests.memory)).toBeLessThanOrEqual(mebibytes(limits.memory));
    expect(requests.cpu).toMatch(/^\d+m$/);
    expect(limits).not.toHaveProperty('cpu');
  });

  test('run the image of this release', () => {
    expect(container.image).toBe(`extensionconfig-webhook:${version}`);
  });

  test('have the priority class of the installation, and can run on control plane nodes', () => {
    const { value } = find(objects, 'PriorityClass', template.spec.priorityClassName);
    // Above the default priority of ordinary pods, below the priorities reserved for the system.
    expect(value).toBeGreaterThan(0);
    expect(value).toBeLessThan(1_000_000_000);
    expect(template.spec.tolerations).toContainEqual({
      key: 'node-role.kubernetes.io/control-plane',
      operator: 'Exists',
      effect: 'NoSchedule',
    });
  });

  test('run on Linux only, since the image is for it and a cluster may have Windows nodes', () => {
    expect(template.spec.nodeSelector).toEqual({ 'kubernetes.io/os': 'linux' });
  });
});

describe('the Deployment', () => {
  const { spec } = serving.spec.template;
  const [container] = spec.containers;

  test('has two pods on different nodes, and never fewer during a rolling update', () => {
    expect(serving.spec.replicas).toBe(2);
    expect(serving.spec.strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    });
    expect(spec.topologySpreadConstraints.map(({ topologyKey }: { topologyKey: string }) => topologyKey)).toEqual([
      'kubernetes.io/hostname',
      'topology.kubernetes.io/zone',
    ]);
    for (const { labelSelector } of spec.topologySpreadConstraints) {
      expect(labelSelector).toEqual(serving.spec.selector);
    }
  });

  test('selects only its own pods', () => {
    const { matchLabels } = serving.spec.selector;
    expect(serving.spec.template.metadata.labels).toMatchObject(matchLabels);
    expect(find(objects, 'Service').spec.selector).toEqual(matchLabels);
    expect(find(objects, 'PodDisruptionBudget').spec.selector).toEqual({ matchLabels });
    expect(find(objects, 'NetworkPolicy').spec.podSelector).toEqual({ matchLabels });
    for (const template of [podTemplates.bootstrap, podTemplates.rotate, podTemplates.controller]) {
      expect(template.metadata.labels).not.toMatchObject(matchLabels);
    }
  });

  test('mounts no service account token', () => {
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(find(objects, 'ServiceAccount', spec.serviceAccountName).automountServiceAccountToken).toBe(false);
    const bound = [...everything]
      .flatMap(([id, object]) => (/^(cluster-facts|impact|repair): /.test(id) ? [] : [object]))
      .filter(({ kind }) => /^(Cluster)?RoleBinding$/.test(kind));
    for (const { subjects } of bound) {
      expect(subjects).not.toContainEqual(expect.objectContaining({ name: spec.serviceAccountName }));
    }
  });

  test('starts before its certificate exists, and is probed on its ports', () => {
    const [volume] = spec.volumes;
    expect(volume.secret).toMatchObject({
      secretName: 'extensionconfig-webhook-tls',
      optional: true,
      defaultMode: 0o440,
    });
    expect(volume.secret.items.map(({ key }: { key: string }) => key)).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
    expect(spec.securityContext.fsGroup).toBe(65532);
    expect(container.volumeMounts).toEqual([
      { name: volume.name, mountPath: flag(serving.spec.template, 'cert-dir'), readOnly: true },
    ]);
    const ports = Object.fromEntries(
      container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [name, containerPort]),
    );
    expect(ports).toEqual({
      webhook: Number(flag(serving.spec.template, 'port')),
      health: Number(flag(serving.spec.template, 'health-port')),
    });
    expect(container.startupProbe.httpGet).toEqual({ path: '/healthz', port: 'health' });
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'health' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'health' });
    expect(find(objects, 'Service').spec.ports).toEqual([
      { name: 'webhook', port: 443, targetPort: 'webhook', protocol: 'TCP' },
    ]);
  });

  test('has the time that a shutdown takes', () => {
    const delay = Number(flag(serving.spec.template, 'shutdown-delay'));
    expect(delay).toBeGreaterThan(0);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(delay + 15);
  });
});

describe('the Jobs', () => {
  test('use the same image, flags and service account', () => {
    const [command, ...flags] = podTemplates.bootstrap.spec.containers[0].args.slice(1);
    expect(command).toBe('bootstrap');
    const [rotateCommand, ...rotateFlags] = podTemplates.rotate.spec.containers[0].args.slice(1);
    expect(rotateCommand).toBe('rotate');
    expect(rotateFlags).toEqual(flags);
    expect({ ...podTemplates.rotate.spec, containers: [] }).toEqual({ ...podTemplates.bootstrap.spec, containers: [] });
  });

  test('end, and are cleaned up', () => {
    for (const { backoffLimit, activeDeadlineSeconds, ttlSecondsAfterFinished } of [
      bootstrap.spec,
      rotate.spec.jobTemplate.spec,
    ]) {
      expect(backoffLimit).toBeGreaterThan(0);
      expect(activeDeadlineSeconds).toBeGreaterThan(60);
      expect(ttlSecondsAfterFinished).toBeGreaterThan(0);
    }
    expect(rotate.spec.concurrencyPolicy).toBe('Forbid');
  });

  test("have a different name in each release, since a Job's template is immutable", () => {
    expect(bootstrap.metadata.name).toBe(`extensionconfig-webhook-bootstrap-${version.replaceAll('.', '-')}`);
  });
});

describe.each(overlays)('webhook configurations of overlay %s', (overlay) => {
  const built = buildOverlay(overlay);

  test.each([
    ['MutatingWebhookConfiguration', 'mutate'],
    ['ValidatingWebhookConfiguration', 'validate'],
  ])('%s', (configuration, verb) => {
    const { webhooks } = find(built, configuration);
    const [webhook, ...others] = webhooks;
    expect(others.map(({ name }: { name: string }) => name)).toEqual(
      overlay === 'impact' && verb === 'validate' ? ['impact.extensionconfig-webhook.runtime.cluster.x-k8s.io'] : [],
    );
    expect(webhook).toMatchObject({
      name: `${verb}.extensionconfig-webhook.runtime.cluster.x-k8s.io`,
      admissionReviewVersions: ['v1'],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      sideEffects: 'None',
      timeoutSeconds: 5,
    });
    // Deletions are only reviewed with facts.
    const asksAboutDeletions = (overlay === 'cluster-facts' || overlay === 'impact') && verb === 'validate';
    expect(webhook.rules).toEqual([
      {
        apiGroups: [group],
        apiVersions: ['v1beta2'],
        resources: ['extensionconfigs', 'extensionconfigs/status'],
        operations: ['CREATE', 'UPDATE', ...(asksAboutDeletions ? ['DELETE'] : [])],
        scope: 'Cluster',
      },
    ]);
    const service = find(built, 'Service');
    expect(webhook.clientConfig).toEqual({
      service: {
        namespace: service.metadata.namespace,
        name: service.metadata.name,
        path: `/${verb}-runtime-cluster-x-k8s-io-v1beta2-${kind.toLowerCase()}`,
        port: service.spec.ports[0].port,
      },
    });
  });

  test('exempt the controllers in kube-system and our namespace', () => {
    for (const configuration of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
      const conditions = find(built, configuration).webhooks[0].matchConditions as { expression: string }[];
      const expressions = conditions.map(({ expression }) => expression);
      for (const namespace of ['kube-system', systemNamespace]) {
        expect(expressions).toContainEqual(
          expect.stringContaining(`!('system:serviceaccounts:${namespace}' in request.userInfo.groups)`),
        );
      }
    }
  });
});

test('the webhook of overlay impact holds nothing up, and leaves out what nobody wrote by hand', () => {
  const built = buildOverlay('impact');
  const [, webhook] = find(built, 'ValidatingWebhookConfiguration').webhooks;
  expect(webhook).toMatchObject({
    failurePolicy: 'Ignore',
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    timeoutSeconds: 10,
    clientConfig: { service: { path: '/impact' } },
  });
  // The namespaces of Clusters count, not that of their class.
  expect(webhook.namespaceSelector).toBeUndefined();
  const isCalled = (kind: string, operation: string, object: Json, oldObject: Json = null) => {
    const [name = '', group = 'cluster.x-k8s.io'] = kind.split(' ');
    return matchesConditions(webhook.matchConditions, { operation, kind: { kind: name, group }, object, oldObject });
  };
  const spec = (value: number, metadata = {}) => ({ metadata, spec: { value }, status: { value } });
  const templates = 'KubeadmConfigTemplate bootstrap.cluster.x-k8s.io';
  const namespace = (labels: Record<string, string>) => ({ metadata: { labels } });
  const paused = { annotations: { 'cluster.x-k8s.io/paused': '' } };
  const cases: [Parameters<typeof isCalled>, boolean][] = [
    [['Cluster', 'UPDATE', spec(1), spec(2)], true],
    [['Cluster', 'UPDATE', spec(1), spec(1)], false],
    [['Cluster', 'UPDATE', { ...spec(1), status: {} }, spec(1)], false],
    [['Cluster', 'UPDATE', spec(1), spec(1, paused)], true],
    [['Cluster', 'UPDATE', spec(1, { labels: { a: 'b' } }), spec(1)], true],
    [['Cluster', 'UPDATE', spec(1, { generation: 1 }), spec(1, { generation: 2 })], false],
    [['Cluster', 'DELETE', null, spec(1)], true],
    [['ClusterClass', 'UPDATE', spec(1), spec(2)], true],
    [['ClusterClass', 'UPDATE', spec(1, paused), spec(1)], false],
    [['ExtensionConfig runtime.cluster.x-k8s.io', 'CREATE', spec(1)], true],
    [[templates, 'UPDATE', spec(1), spec(2)], true],
    [[templates, 'UPDATE', spec(1, paused), spec(1)], false],
    [['KubeadmConfig bootstrap.cluster.x-k8s.io', 'UPDATE', spec(1), spec(2)], false],
    [['Namespace ', 'DELETE', null, namespace({ 'impact.extensionconfig-webhook/replacement': 'deny' })], true],
    [['Namespace ', 'DELETE', null, namespace({ 'impact.extensionconfig-webhook/replacement': 'Deny' })], true],
    [['Namespace ', 'DELETE', null, namespace({ a: 'b' })], false],
    [['Namespace ', 'DELETE', null, { metadata: {} }], false],
  ];
  for (const [args, called] of cases) {
    expect(isCalled(...args), args.join()).toBe(called);
  }
});

test('no manifest contains a caBundle, since applying it again would restore it', () => {
  for (const [id, object] of everything) {
    // The description of the field in the schema of the CustomResourceDefinition is not a caBundle.
    const { schema: _schema, ...rest } =
      object.kind === 'CustomResourceDefinition'
        ? { ...object, spec: object.spec.conversion, schema: undefined }
        : object;
    expect(JSON.stringify(rest), id).not.toContain('"caBundle"');
  }
});

test('everything namespaced is in our namespace, which enforces the restricted Pod Security Standard', () => {
  const clusterScoped = new Set([
    'Namespace',
    'PriorityClass',
    'ClusterRole',
    'ClusterRoleBinding',
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'CustomResourceDefinition',
  ]);
  for (const [id, object] of everything) {
    // The namespace of events about cluster-scoped objects.
    const isEvents = object.metadata.name === 'extensionconfig-webhook-controller-events';
    const namespace = isEvents ? 'default' : systemNamespace;
    expect(object.metadata.namespace, id).toBe(clusterScoped.has(object.kind) ? undefined : namespace);
  }
  expect(find(objects, 'Namespace', systemNamespace).metadata.labels).toMatchObject({
    'pod-security.kubernetes.io/enforce': 'restricted',
  });
});

describe('the controller', () => {
  const name = controller.metadata.name;
  const { matchLabels } = controller.spec.selector;

  test('has two replicas with leader election, and may write the Lease', () => {
    expect(controller.spec.replicas).toBe(2);
    expect(controller.spec.template.spec.containers[0].args).toContain('--leader-elect');
    const [named] = find(withController, 'Role', name).rules;
    expect(named.resourceNames).toEqual(['extensionconfig-webhook-controller']);
  });

  test('has its own disruption budget and network policy, which select no other pods', () => {
    expect(controller.spec.template.metadata.labels).toMatchObject(matchLabels);
    expect(find(withController, 'PodDisruptionBudget', name).spec).toMatchObject({
      minAvailable: 1,
      selector: { matchLabels },
    });
    for (const template of [podTemplates.serving, podTemplates.bootstrap, podTemplates.rotate]) {
      expect(template.metadata.labels).not.toMatchObject(matchLabels);
    }
  });

  test('accepts no connections, and reaches extension servers', () => {
    const policies = withController.filter(
      ({ kind, spec }) =>
        kind === 'NetworkPolicy' && JSON.stringify(spec.podSelector) === JSON.stringify({ matchLabels }),
    );
    expect(policies.flatMap(({ spec }) => spec.ingress ?? [])).toEqual([]);
    expect(policies.some(({ spec }) => spec.policyTypes.includes('Ingress'))).toBe(true);
    const egress = policies.flatMap(({ spec }) => spec.egress ?? []);
    expect(egress).toContainEqual({
      ports: [
        { port: 443, protocol: 'TCP' },
        { port: 6443, protocol: 'TCP' },
      ],
    });
    expect(egress.some(({ to, ports }) => to !== undefined && ports[0].port === undefined)).toBe(true);
    // The metadata service of a cloud has credentials of the node.
    expect(JSON.stringify(egress).includes('"cidr":"0.0.0.0/0","except":["169.254.0.0/16"]')).toBe(true);
    expect(egress.filter((rule) => Object.keys(rule).length === 0)).toEqual([]);
  });
});

test('network: the serving pods reach nothing, and can only be reached on their webhook port', () => {
  expect(find(objects, 'NetworkPolicy').spec).toMatchObject({
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ ports: [{ port: 'webhook', protocol: 'TCP' }] }],
    egress: [],
  });
  expect(find(objects, 'NetworkPolicy', 'extensionconfig-webhook-certificates').spec).toMatchObject({
    policyTypes: ['Ingress', 'Egress'],
    ingress: [],
    egress: [{ ports: [{ port: 443 }, { port: 6443 }] }],
  });
});

test('a disruption takes one pod at a time, and pods that do not work do not block it', () => {
  expect(find(objects, 'PodDisruptionBudget').spec).toMatchObject({
    minAvailable: 1,
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
  });
});

test('cert-manager: there are no Jobs and permissions of ours, and its injector knows the CA', () => {
  const built = buildOverlay('cert-manager');
  const kinds = new Set(built.map((object) => object.kind));
  for (const absent of ['Job', 'CronJob', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']) {
    expect(kinds).not.toContain(absent);
  }
  const certificate = find(built, 'Certificate');
  expect(certificate.spec.secretName).toBe(serving.spec.template.spec.volumes[0].secret.secretName);
  expect(certificate.spec.dnsNames).toContain(`extensionconfig-webhook.${systemNamespace}.svc`);
  for (const configuration of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
    expect(find(built, configuration).metadata.annotations).toEqual({
      'cert-manager.io/inject-ca-from': `${certificate.metadata.namespace}/${certificate.metadata.name}`,
    });
  }
});

test('openshift: no pod chooses its user or groups, and nothing else differs', () => {
  const pods = (object: Manifest) =>
    (object.kind === 'CronJob' ? object.spec.jobTemplate : object).spec?.template?.spec?.securityContext;
  const component = join(manifestsFolder, 'components/openshift');
  const cases: [Manifest[], number][] = [
    [buildOverlay('default'), 3],
    [withController, 4],
  ];
  for (const [before, count] of cases) {
    const after = buildKustomization(component, structuredClone(before));
    expect(after.flatMap((object) => pods(object) ?? [])).toEqual(
      Array.from({ length: count }, () => ({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })),
    );
    for (const [index, object] of after.entries()) {
      Object.assign(pods(object) ?? {}, pods(before[index]!));
    }
    expect(after).toEqual(before);
  }
  expect(buildOverlay('openshift')).toEqual(buildKustomization(component, buildOverlay('default')));
});

test('the image has a user, by number: runAsNonRoot needs one where the pod does not name it', () => {
  const { runAsUser, runAsGroup } = user;
  const dockerfile = readFileSync(new URL('../../../Dockerfile', import.meta.url), 'utf8');
  expect(dockerfile).toContain(`\nUSER ${runAsUser}:${runAsGroup}\n`);
});

test('Jobs of one name are the same in all overlays, because their pods cannot be changed', () => {
  const templates = new Map<string, unknown>();
  for (const object of everything.values()) {
    if (object.kind === 'Job') {
      expect(object.spec.template, idOf(object)).toEqual(templates.get(idOf(object)) ?? object.spec.template);
      templates.set(idOf(object), object.spec.template);
    }
  }
  expect([...templates.keys()]).toEqual([
    `Job extensionconfig-webhook-bootstrap-${version.replaceAll('.', '-')}`,
    `Job extensionconfig-webhook-bootstrap-crd-${version.replaceAll('.', '-')}`,
  ]);
});

test('with-crd: the Jobs inject its caBundle and may write it', () => {
  const built = buildOverlay('with-crd');
  const crd = 'extensionconfigs.runtime.cluster.x-k8s.io';
  expect(find(built, 'CustomResourceDefinition', crd).spec.conversion.webhook.clientConfig.service).toMatchObject({
    name: 'extensionconfig-webhook',
    namespace: systemNamespace,
  });
  const job = built.find((object) => object.kind === 'Job')!;
  for (const template of [
    job.spec.template,
    find(built, 'CronJob', 'extensionconfig-webhook-rotate').spec.jobTemplate.spec.template,
  ]) {
    expect(template.spec.containers[0].args).toContain(`--target=CustomResourceDefinition/${crd}`);
  }
});

test('the image has the Node.js version that development uses', () => {
  const dockerfile = readFileSync(new URL('../../../Dockerfile', import.meta.url), 'utf8');
  expect(dockerfile).toContain(`/node:${devDependencies.node}-`);
  expect(/^ARG VERSION=(.*)$/m.exec(dockerfile)?.[1]).toBe(version);
  expect(/^USER (.*)$/m.exec(dockerfile)?.[1]).toBe('65532:65532');
  expect(dockerfile).toMatch(/^ARG RUNTIME_IMAGE=gcr\.io\/distroless\/nodejs24-/m);
});
