import { useState } from 'preact/hooks';
import { ApiError, signIn } from '../api/client';
import { Icon } from '../components/Icon';
import { loadCapabilities } from '../state/store';

/** Asks for the one-time code that the daemon printed, or for a token. */
export function SignIn() {
  const [secret, setSecret] = useState('');
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await signIn(secret.trim().replace(/^.*#k=/, ''));
      await loadCapabilities();
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setError(`${problem.problem.detail} ${problem.problem.hint}`.trim());
    }
  };
  return (
    <main class="sign-in">
      <Icon name="logo" size={40} />
      <h1>Sign in to Deltascope</h1>
      <form onSubmit={(event) => void submit(event)}>
        <label for="secret">Code or token</label>
        <input
          id="secret" type="password" autocomplete="off" autofocus required value={secret}
          aria-describedby="secret-help" onInput={(event) => setSecret(event.currentTarget.value)}
        />
        <p id="secret-help" class="muted">
          The daemon printed an address with a one-time code when it started. Paste the address, its code, or a token.
          After a restart it has a new code.
        </p>
        {error !== null && <p role="alert" class="error-text">✕ {error}</p>}
        <button type="submit" class="primary">Sign in</button>
      </form>
    </main>
  );
}
