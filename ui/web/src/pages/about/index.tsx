import { actions } from '../../actions';
import { Card } from '../../components/Card';
import { Skeleton } from '../../components/states';
import { safeName } from '../../format';
import { capabilities } from '../../state/store';
import './about.css';

const here = (path: string) => new URL(path, document.baseURI).href;

/** Version, what this session may do, where the interface is described, license. */
export default function About() {
  const known = capabilities.value;
  if (!known) return <Skeleton rows={4} />;
  return (
    <div class="about">
      <h1>About Deltascope</h1>
      <Card title="This daemon">
        <dl class="facts card-body">
          <dt>Version</dt><dd>{safeName(known.version)}</dd>
          <dt>Engine</dt><dd>{known.backends.join(', ')}</dd>
          <dt>Signed in as</dt><dd>{safeName(known.principal)}</dd>
          <dt>Scopes</dt><dd>{known.scopes.join(', ')}</dd>
          <dt>Acts</dt><dd>{known.read_only ? 'off; start the daemon with --allow-acts' : 'on'}</dd>
        </dl>
      </Card>
      <Card title="For programs">
        <ul class="card-body about-links muted">
          <li><a href={here('openapi.json')}>openapi.json</a> <span class="muted">the HTTP interface</span></li>
          <li><a href={here('metrics')}>metrics</a> <span class="muted">for Prometheus</span></li>
          <li><a href={here('healthz')}>healthz</a>, <a href={here('readyz')}>readyz</a></li>
        </ul>
      </Card>
      <Card title="License">
        <p class="card-body">Apache License 2.0. The desktop program, which links Qt Charts, is GPL-3.0-or-later.</p>
      </Card>
      <p><button type="button" onClick={() => actions.find(({ id }) => id === 'keys')?.act()}>Show all shortcuts</button></p>
    </div>
  );
}
