/**
 * The accounts with which a cluster deletes dependent objects: the garbage collector and the namespace controller, as
 * service accounts of kube-system or as the controller manager itself, and the API server when a
 * CustomResourceDefinition is deleted. Denying their requests would only leave things half deleted.
 */
const accounts: ReadonlySet<string> = new Set(['system:kube-controller-manager', 'system:apiserver']);

const systemNamespace = 'system:serviceaccount:kube-system:';

/** Whether a user is one of the cluster's own controllers, whose deletions are never denied. */
export function isTeardown(username: string): boolean {
  return accounts.has(username) || username.startsWith(systemNamespace);
}
