// Updates nodes over HTTPS, through an agent on each of them, whose CA is in NODE_EXTRA_CA_CERTS. The agent stores the
// state of each update under its key; a PUT of an update that runs or is done changes nothing.
import type { MachineUpdate, MachineUpdater, MachineUpdateState } from 'cluster-api-extension';
import { addressOf, kubeletVersion } from './machine-status.ts';

const { AGENT_PORT = '9444', AGENT_TOKEN } = process.env;

async function ask(update: MachineUpdate, signal: AbortSignal, more?: RequestInit): Promise<Response> {
  const url = `https://${await addressOf(update)}:${AGENT_PORT}/updates/${update.key}`;
  const headers = { authorization: `Bearer ${AGENT_TOKEN}`, 'content-type': 'application/json' };
  const response = await fetch(url, { headers, signal, redirect: 'error', ...more });
  if (!response.ok && (response.status !== 404 || more !== undefined)) {
    throw new Error(`the agent answers ${response.status}`);
  }
  return response;
}

export const agentUpdater: MachineUpdater = {
  async look(update, signal) {
    const response = await ask(update, signal);
    return response.status === 404 ? { state: 'none' } : ((await response.json()) as MachineUpdateState);
  },
  async begin(update, signal) {
    const { version } = update.desired.machine.spec;
    await ask(update, signal, { method: 'PUT', body: JSON.stringify({ version }) });
  },
  kubeletVersion,
};
