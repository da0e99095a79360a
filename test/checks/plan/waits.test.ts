import { expect, test } from 'vitest';
import { withWaits } from '../../../src/checks/plan/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { cluster, planOf, workers } from './plans.ts';

// As a real Cluster API said it of a MachineDeployment whose new template never starts.
const message =
  '* Machine b1-md-0-htmr2-bd4lr-pmkh2:\n  * InfrastructureReady:\n    * VMProvisioned: WaitingForStartupTimeout';
const machineDeployment = (rollingUpdate: JsonObject, status: string): JsonObject => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  metadata: { name: workers.name, namespace: 'default' },
  spec: { rollout: { strategy: { type: 'RollingUpdate', rollingUpdate } } },
  status: { conditions: [{ type: 'MachinesReady', status, reason: 'NotReady', message }] },
});
const waiting = { text: '2 Machines are not up to date already, without this change', causes: [] };

test.each([
  [
    'no room',
    [waiting],
    {},
    'False',
    [
      `old Machines stay until new ones are available (maxUnavailable 0); MachinesReady is False (NotReady): ${message}`,
    ],
  ],
  ['room', [waiting], { maxUnavailable: 1 }, 'False', [`MachinesReady is False (NotReady): ${message}`]],
  ['all are ready', [waiting], {}, 'True', []],
  ['nothing is under way', [], {}, 'False', []],
])('a rollout that waits for new Machines: %s', (_name, problems, rollingUpdate, status, expected) => {
  const plan = planOf(cluster('default/f1', { ...workers, problems }));
  const [{ groups }] = withWaits(plan, [machineDeployment(rollingUpdate, status)]).clusters as [
    (typeof plan.clusters)[number],
  ];
  expect(groups[0]?.problems?.slice(problems.length).map(({ text }) => text)).toEqual(expected);
});
