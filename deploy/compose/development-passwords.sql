-- For docker-compose.yml on a developer's machine only: everybody can read these here.
ALTER ROLE analyze_retry_owner PASSWORD 'development-only-owner';
ALTER ROLE analyze_retry_app PASSWORD 'development-only-app';
