export { clientNode, undici } from './client-node.ts';
