export { KubeConfigError, loadKubeConfig } from './kubeconfig.ts';
export { moreHeaders } from './users.ts';
