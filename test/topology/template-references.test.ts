import { expect, test } from 'vitest';
import { templateReferences } from '../../src/topology/index.ts';

const reference = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Template', name });

test.each([
  ['templateRef', 'v1beta2'],
  ['ref', 'v1beta1'],
])('the templates of a class, by %s (%s), not those of health checks', (field, version) => {
  const at = (name: string) => ({ [field]: reference(name) });
  const worker = (name: string) => {
    const templates = { bootstrap: at(`${name}-bootstrap`), infrastructure: at(`${name}-machine`) };
    return version === 'v1beta1' ? { template: templates } : templates;
  };
  const healthCheck = { remediation: at('remediation') };
  const spec = {
    infrastructure: at('cluster'),
    controlPlane: { ...at('cp'), machineInfrastructure: at('cp-machine'), healthCheck },
    workers: {
      machineDeployments: [{ class: 'a', ...worker('md'), healthCheck }],
      machinePools: [{ class: 'b', ...worker('mp') }],
    },
    patches: [{ definitions: [{ selector: { ref: reference('selected') } }] }],
  };
  const clusterClass = {
    apiVersion: `cluster.x-k8s.io/${version}`,
    kind: 'ClusterClass',
    metadata: { name: 'k' },
    spec,
  };
  expect(templateReferences(clusterClass).map(({ name }) => name)).toEqual([
    'cluster',
    'cp',
    'cp-machine',
    'md-bootstrap',
    'md-machine',
    'mp-bootstrap',
    'mp-machine',
  ]);
});
